"""A run as a video: mp4 by ffmpeg (of imageio-ffmpeg), gif by pillow."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.engine.callbacks import Progress
from pliant.errors import ModelError
from pliant.files import whole_file
from pliant.results.recording import Recording
from pliant.view.charts.chart import nice_step
from pliant.view.charts.quantities import dense_range, has_dense
from pliant.view.marks import Layer, Mark, Words, circle, line, polygon
from pliant.view.palette import Colour, colours, looks, mixed
from pliant.view.picture.pose import pose, undeformed
from pliant.view.picture.projection import Canvas, fit
from pliant.view.picture.raster import Raster
from pliant.view.picture.robot import backdrop, stage
from pliant.view.picture.scene import Scene, extent, make_scene
from pliant.view.picture.surroundings import deformation_words, free_corner, scale_bar, shadow, triad
from pliant.view.svg import TIMES, Array

Frame = NDArray[np.uint8]  # (height, width, 4)
FORMATS = {".mp4": 30.0, ".gif": 25.0}  # frames a second unless given
FASTEST_GIF = 50.0  # frames a second
SIZES = {".mp4": (1280, 720), ".gif": (720, 405)}  # [px]
REFERENCE = 960.0  # [px] a picture this wide has marks of their own size
MARGIN = 56.0  # [px]
STAMP = 50.0  # [px] height of the time and the name at the top
USUAL = (4.0, 20.0)  # [s] a run this long is shown in real time
SHOWN = 8.0  # [s] others are slowed or quickened to about so long
FAR = 12.0  # times its own size a robot may travel before the camera follows it
SMOOTH = 8  # frames before and after, for a camera that follows
MAX_FRAMES = 20_000
FLASH = 0.25  # [s] of the video: how long a contact glows after its end
TRAIL = 2.0  # [s] of the video: how much of a path is shown


def video_format(path: str | Path) -> str:
    """The suffix of a video file, or a message."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ModelError(f"{path}: a video cannot be {suffix or 'without a suffix'}; name it {' or '.join(FORMATS)}")
    return suffix


def write_video(
    result: Recording,
    path: str | Path,
    *,
    fps: float | None = None,
    speed: float | None = None,
    magnify: float = 1.0,
    size: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> None:
    """See Recording.video."""
    path, suffix = Path(path), video_format(path)
    width, height = _size(size or SIZES[suffix])
    if result.dense is None:
        raise ModelError("video: this run kept no dense output; call simulate with dense=True (the default)")
    if not has_dense(result):
        raise ModelError("video: this run ended at its start, so nothing moves; its reason says why")
    fps = _positive("fps", FORMATS[suffix] if fps is None else fps)
    # a gif counts hundredths of a second
    fps = 100.0 / max(round(100.0 / min(fps, FASTEST_GIF)), 2) if suffix == ".gif" else fps
    first, last = dense_range(result)
    speed = _usual_speed(last - first) if speed is None else _positive("speed", speed)
    _positive("magnify", magnify, can_be_zero=True)
    count = round((last - first) / speed * fps) + 1
    if count > MAX_FRAMES:
        raise ModelError(
            f"video: {count} frames; the most are {MAX_FRAMES}: raise speed ({speed:g}) or lower fps ({fps:g})"
        )
    times = np.linspace(first, last, max(count, 2))
    film = Film(result, times, speed, magnify, width, height)
    with whole_file(path) as temporary:
        writer = _write_gif if suffix == ".gif" else _write_mp4
        writer(temporary, _with_progress(film.frames(), len(film.scene.times), progress), fps, (width, height))


def _positive(name: str, value: float, *, can_be_zero: bool = False) -> float:
    is_number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not is_number or value < 0 or (value == 0 and not can_be_zero):
        raise ModelError(f"video: {name} = {value!r}; give a positive number")
    return float(value)


def _size(size: Any) -> tuple[int, int]:
    """Width and height in pixels, both even, as codecs want them."""
    try:
        width, height = (int(value) for value in size)
    except (TypeError, ValueError):
        raise ModelError(f"video: size {size!r} is no pair of numbers; give (width, height) in pixels") from None
    if not (64 <= width <= 7680 and 64 <= height <= 4320):
        raise ModelError(f"video: size {width} x {height}; give 64 x 64 to 7680 x 4320 pixels")
    return width - width % 2, height - height % 2


def _usual_speed(duration: float) -> float:
    """Real time for runs one can follow; else 1, 2 or 5 times a power of ten, so that the video lasts a few seconds."""
    return 1.0 if USUAL[0] <= duration <= USUAL[1] else nice_step(duration / SHOWN, 1)


def _with_progress(frames: Iterator[Frame], count: int, progress: Progress | None) -> Iterator[Frame]:
    for k, frame in enumerate(frames):
        yield frame
        if progress is not None:
            progress(k + 1, count)


# --- files --------------------------------------------------------------------------------------------------------


def _write_mp4(path: Path, frames: Iterator[Frame], fps: float, size: tuple[int, int]) -> None:
    import imageio_ffmpeg

    try:
        ffmpeg = imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise ModelError(f"video: no ffmpeg was found ({error}); install imageio-ffmpeg, or name a .gif") from None
    given = ["-f", "rawvideo", "-pix_fmt", "rgba", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.6g}", "-i", "-", "-an"]
    made = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-preset", "veryfast", "-crf", "19", "-movflags", "+faststart"]
    command = [ffmpeg, "-y", "-v", "error", *given, *made, "-f", "mp4", str(path)]
    encoder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert encoder.stdin is not None
    assert encoder.stderr is not None
    said: list[bytes] = []
    listener = threading.Thread(target=lambda pipe: said.append(pipe.read()), args=(encoder.stderr,), daemon=True)
    listener.start()
    try:
        # one that has ended says below why
        with suppress(BrokenPipeError):
            for frame in frames:
                encoder.stdin.write(frame.tobytes())
        with suppress(BrokenPipeError):
            encoder.stdin.close()
        encoder.wait()
    finally:
        if encoder.poll() is None:
            encoder.kill()
            encoder.wait()
        with suppress(OSError):
            encoder.stdin.close()
        listener.join()
        encoder.stderr.close()
    if encoder.returncode:
        words = re.sub(r"\[.*?\] ", "", b"".join(said).decode(errors="replace")).strip().partition("\n")[0]
        raise OSError(f"the encoder ended with {encoder.returncode}" + (f": {words}" if words else ""))


def _write_gif(path: Path, frames: Iterator[Frame], fps: float, size: tuple[int, int]) -> None:
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette([value for colour in _gif_colours() for value in colour])
    # one palette for all, so that nothing flickers; frame by frame, so that it fits into memory
    plain = (
        Image.fromarray(frame).convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames
    )
    options = {"save_all": True, "append_images": plain, "duration": round(1000 / fps), "loop": 0, "optimize": False}
    with path.open("wb") as file:
        next(plain).save(file, "GIF", **options)


def _gif_colours() -> list[Colour]:
    """All that is on a picture, and what smooth edges make of it: each colour over the card, and over each other."""
    own = list(dict.fromkeys(colour for look in looks().values() for colour in (look.fill, look.stroke) if colour))
    shades = [
        mixed(colour, share, colours()["card"]) for colour in own for share in np.linspace(0.125, 1.0, 8).tolist()
    ]
    faces = [colours()[name] for name in ("link", "face-top", "face-left", "face-right")]
    edges = [mixed(colours()["edge"], share, face) for face in faces for share in (0.2, 0.4, 0.6, 0.8)]
    card = colours()["card"]
    # pillow looks up roughly: nothing that it could take for the card
    distinct = [colour for colour in (*own, *edges, *shades) if max(abs(np.subtract(colour, card))) > 12]
    return list(dict.fromkeys([card, *distinct]))[:256]


# --- frames -------------------------------------------------------------------------------------------------------


class Film:
    """The frames of a video: what stands still is drawn once, unless the camera follows the robot."""

    def __init__(self, result: Recording, times: Array, speed: float, magnify: float, width: int, height: int) -> None:
        self.result, self.speed, self.size = result, speed, (width, height)
        self.scene: Scene = make_scene(result, t=times, enlarge=magnify)
        self.zoom = width / REFERENCE
        self.inner = REFERENCE, height / self.zoom
        self.points = [self.scene.points(k) for k in range(len(self.scene.times))]
        heights = (self.inner[1], self.inner[1])
        self.canvas, self.everything, self.floor = stage(self.scene, self.points, REFERENCE, heights, MARGIN)
        self.all_points = np.concatenate(self.points)
        self.follows = extent(self.everything) > FAR * max(map(extent, self.points))
        self.corner = free_corner(self.canvas, self.all_points)
        if self.corner[1] < STAMP:
            self.corner = self.corner + np.array([0.0, STAMP])
        self.touches = _touches(result, self.scene.times) if len(result.contacts) else []

    def frames(self) -> Iterator[Frame]:
        raster = Raster(*self.size, self.zoom)
        if not self.follows:
            raster.draw(self._still(self.canvas, self.all_points))
            raster.keep()
        for k in range(len(self.scene.times)):
            canvas = self._followed(k) if self.follows else self.canvas
            raster.clear()
            if self.follows:
                raster.draw(self._still(canvas, self._around(k)))
            raster.draw(self._moving(k, canvas))
            yield raster.pixels()

    def _followed(self, k: int) -> Canvas:
        """Centred on the robot, smoothly."""
        span = min(SMOOTH, k, len(self.points) - 1 - k)
        centre = np.mean([self._fitted(points).centre for points in self.points[k - span : k + span + 1]], axis=0)
        return replace(self._fitted(self.points[k]), scale=self._close_up, centre=centre)

    def _around(self, k: int) -> Array:
        """Corners of a box around pose k, always as large."""
        middle, reach = self.points[k].mean(axis=0), 3.0 * max(map(extent, self.points))
        return np.stack([middle - reach, middle + reach])

    def _fitted(self, points: Array) -> Canvas:
        return fit(self.scene.view, points, REFERENCE, (self.inner[1], self.inner[1]), MARGIN)

    @cached_property
    def _close_up(self) -> float:
        """The scale at which every pose fits, with some of its way."""
        return 0.6 * min(self._fitted(points).scale for points in self.points)

    def _still(self, canvas: Canvas, points: Array) -> list[Layer]:
        marks = backdrop(self.scene, canvas, self.everything, points, self.floor)
        signs = [*triad(canvas, self.corner), *scale_bar(canvas), *deformation_words(self.scene, canvas)]
        return [Layer([*marks, *signs])]

    def _moving(self, k: int, canvas: Canvas) -> list[Layer]:
        scene = self.scene
        shade = [] if self.floor is None else shadow(scene, canvas, self.floor, k)
        below = [*shade, *self._trail(k, canvas)]
        return [
            Layer(below),
            Layer([*pose(scene, canvas, k), *undeformed(scene, canvas, k)]),
            Layer(self._signs(k, canvas)),
        ]

    def _trail(self, k: int, canvas: Canvas) -> list[Mark]:
        """The paths of the ends during the last seconds, fading."""
        scene, marks = self.scene, []
        t = scene.times[k]
        edges = np.linspace(t - TRAIL * self.speed, t, 9)
        rows = np.searchsorted(scene.trail_times, edges, side="right")
        for j in range(scene.trails.shape[1]):
            for place, (a, b) in enumerate(zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True)):
                if b - max(a - 1, 0) > 1:
                    points = canvas.pixels(scene.trails[max(a - 1, 0) : b, j])
                    marks.append(line("trail", points, 1.6, opacity=0.1 + 0.1 * (place + 1)))
        return marks

    def _signs(self, k: int, canvas: Canvas) -> list[Mark | Words]:
        """Flashes of contacts, time, speed, and how far the run is."""
        width, height = self.inner
        t, last = float(self.scene.times[k]), float(self.scene.times[-1])
        signs: list[Mark | Words] = [*self._flashes(k, canvas)]
        signs.append(Words(24, 38, f"t = {t:.{_decimals(last)}f} s", "start", "halo", 1.6))
        words = self.result.model.name + ("" if self.speed == 1 else f"  (speed {TIMES} {self.speed:g})")
        signs.append(Words(width - 24, 36, words, "end", "", 1.15))
        share = (t - self.scene.times[0]) / (last - self.scene.times[0] or 1.0)
        bar = np.array([[0.0, height - 3], [width * share, height - 3], [width * share, height], [0.0, height]])
        return [*signs, polygon("spot", bar)]

    def _flashes(self, k: int, canvas: Canvas) -> Iterator[Mark]:
        """A ring that grows and fades, brightest while the point touches."""
        t = float(self.scene.times[k])
        for start, end, places in self.touches:
            since = (t - end) / (FLASH * self.speed)
            if t >= start - 0.5 * self._frame and since < 1:
                fading = max(0.0, since)
                place = canvas.pixels(places[k])
                yield replace(circle("spot", place, 5.0), opacity=1.0 - fading)
                yield replace(circle("trail", place, 8.0 + 14.0 * fading, 2.4), opacity=1.0 - fading)

    @property
    def _frame(self) -> float:
        return float(self.scene.times[1] - self.scene.times[0])


def _touches(result: Recording, times: Array) -> list[tuple[float, float, Array]]:
    """(start, end, place at every time) of every contact."""
    forces = result.contact_forces(times)
    rows = {name: k for k, name in enumerate(forces.names)}
    found = []
    for row in result.contacts:
        end = float(row["t_end"]) if np.isfinite(row["t_end"]) else float(times[-1])
        found.append((float(row["t_start"]), end, forces.place[:, rows[str(row["contact"]), str(row["point"])]]))
    return found


def _decimals(last: float) -> int:
    """Digits after the point, so that the stamp moves with the frames."""
    return int(np.clip(2 - np.floor(np.log10(max(last, 1e-12))), 1, 9))

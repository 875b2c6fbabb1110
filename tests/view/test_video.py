"""Videos of runs: as many frames as asked for, at the right times, whole or not at all."""

import subprocess

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

import pliant
from pliant import Base, Body, Contact, Joint, Model, ModelError, NormalLaw, Rod, Sphere
from pliant.view.palette import colours
from pliant.view.picture.video import Film, video_format

SIZE = (320, 180)


@pytest.fixture(scope="module")
def ball():
    """A ball falls for 0.6 s and bounces."""
    model = Model(
        "ball",
        bodies=(Body("ball", 1.0, shape=Sphere(0.1)),),
        base=Base("floating", position=(0, 0, 1.0)),
        contacts=(Contact("floor", NormalLaw("exact", stiffness=1e6, restitution=0.7), points=("ball",), radius=0.1),),
    )
    return pliant.simulate(model, 0.6)


def gif_frames(path):
    with Image.open(path) as image:
        found = []
        for k in range(image.n_frames):
            image.seek(k)
            found.append((image.info["duration"], np.asarray(image.convert("RGB"))))
    return found


def test_gif_lasts_as_long_as_the_run_over_the_speed(ball, tmp_path):
    """0.6 s at a fifth of the speed: 3 s of video, 20 frames a second, one more for the end."""
    ball.video(tmp_path / "a.gif", fps=20, speed=0.2, size=SIZE)
    frames = gif_frames(tmp_path / "a.gif")
    # pillow joins equal frames and adds their times
    assert sum(duration for duration, _ in frames) == 61 * 50
    assert frames[0][1].shape == (180, 320, 3)
    assert tuple(frames[0][1][2, 100]) == colours()["card"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.gif"]


def test_mp4_has_every_frame_and_can_be_read(ball, tmp_path):
    seen = []
    ball.video(tmp_path / "a.mp4", fps=30, speed=0.5, size=SIZE, progress=lambda k, n: seen.append((k, n)))
    reader = imageio_ffmpeg.read_frames(str(tmp_path / "a.mp4"))
    facts = next(reader)
    frames = [np.frombuffer(frame, np.uint8).reshape(180, 320, 3) for frame in reader]
    assert facts["size"] == SIZE
    assert facts["fps"] == 30
    assert len(frames) == 37
    assert seen == [(k, 37) for k in range(1, 38)]
    card = np.array(colours()["card"])
    assert np.abs(frames[0][2, 100].astype(int) - card).max() < 6  # the codec rounds colours


def dark_blue(frame):
    """Where the ball is: mean row of its pixels."""
    r, g, b = (frame[..., k].astype(int) for k in range(3))
    rows = np.flatnonzero((abs(r - 0xBC) + abs(g - 0xD5) + abs(b - 0xEC) < 12).any(axis=1))
    return float(rows.mean())


def test_ball_falls_in_the_frames_as_it_falls_in_the_run(ball):
    """The rows of pixels of the ball follow its height, up to the pixel."""
    times = np.linspace(0.0, 0.3, 7)
    film = Film(ball, times, 1.0, 1.0, 960, 540)
    heights = ball.at(times)[0][:, 2]
    rows = np.array([dark_blue(frame[..., :3]) for frame in film.frames()])
    scale = film.canvas.scale * (film.canvas.view.up @ [0, 0, 1])
    # mean of whole rows: to a pixel
    assert rows - rows[0] == pytest.approx(scale * (heights[0] - heights), abs=1.0)


def test_contact_flashes_while_it_lasts_and_then_fades(ball):
    start = ball.contacts.t_start[0]
    film = Film(ball, np.array([start - 0.05, start + 1e-4, start + 0.1]), 0.2, 1.0, 320, 180)
    film.speed = 0.1  # a flash lasts a quarter of a second of the video: 0.025 s
    counts = [len([*film._flashes(k, film.canvas)]) for k in range(3)]
    assert counts == [0, 2, 0]


def test_robot_that_travels_far_is_followed():
    """A rod that flies 50 m stays in the middle, as large as it fits."""
    model = Model(
        "rod",
        gravity=(0, 0, 0),
        bodies=(Body("rod", 1.0, shape=Rod(1.0, 0.02)),),
        base=Base("floating", velocity=(50, 0, 0)),
    )
    result = pliant.simulate(model, 1.0)
    film = Film(result, np.linspace(0, 1, 21), 1.0, 1.0, 320, 180)
    assert film.follows
    for k in (0, 10, 20):
        x, _ = film._followed(k).pixels(result.at(film.scene.times[k])[0][:3])
        assert 0 < x < 960


def test_usual_speed_makes_short_runs_slow_and_long_ones_quick(ball, tmp_path):
    ball.video(tmp_path / "a.gif", size=(64, 64))
    frames = gif_frames(tmp_path / "a.gif")
    # 0.6 s over 8 s: a tenth, so 6 s at 25 frames a second
    assert sum(duration for duration, _ in frames) == 151 * 40


@pytest.mark.parametrize("name", ["a.avi", "a", "a.mp4.txt"])
def test_other_formats_are_refused(ball, name, tmp_path):
    with pytest.raises(ModelError, match=r"name it \.mp4 or \.gif"):
        video_format(name)
    with pytest.raises(ModelError, match="a video cannot be"):
        ball.video(tmp_path / name)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fps": 0}, "fps: 0 found; give a number above 0"),
        ({"speed": -1.0}, "speed"),
        ({"speed": 1e-9}, "the most are 20000"),
        ({"magnify": float("nan")}, "magnify"),
        ({"size": (10, 10)}, "64 x 64"),
        ({"size": 5}, "size: 5 found"),
    ],
)
def test_options_out_of_range_are_refused_in_words(ball, options, words, tmp_path):
    with pytest.raises(ModelError, match=words):
        ball.video(tmp_path / "a.gif", **options)


def test_interrupted_writing_leaves_nothing(ball, tmp_path):
    def stop(k, n):
        if k == 3:
            raise KeyboardInterrupt

    for name in ("a.gif", "a.mp4"):
        with pytest.raises(KeyboardInterrupt):
            ball.video(tmp_path / name, size=(64, 64), progress=stop)
    assert [*tmp_path.iterdir()] == []


def test_run_without_dense_output_is_refused():
    model = Model("bar", bodies=(Body("bar", 1.0, shape=Rod(1.0)),), joints=(Joint("hinge", "revolute", "bar"),))
    with pytest.raises(ModelError, match="dense=True"):
        pliant.simulate(model, 0.1, dense=False).video("a.gif")


def test_ffmpeg_comes_with_the_package():
    done = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-version"], capture_output=True, check=True)
    assert b"libx264" in done.stdout

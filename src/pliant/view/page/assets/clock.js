// The time of the page: one clock, which the player, the charts and the tables set and follow.

const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const SEEN = 7; // [s] that a run takes to watch at first, about

const clock = {
  t: 0,
  first: 0,
  last: 0,
  speed: 1,
  loop: true,
  isPlaying: false,
  followers: [],

  // The span of a film; the time stays if it lies in it.
  span(first, last) {
    [this.first, this.last] = [first, last];
    this.set(clamp(this.t, first, last));
  },

  set(t) {
    this.t = clamp(t, this.first, this.last);
    this.tell();
  },

  tell() {
    for (const follower of this.followers) follower(this.t);
  },

  play(isPlaying) {
    if (isPlaying && this.t >= this.last) this.t = this.first;
    this.isPlaying = isPlaying && this.last > this.first;
    this.wall = 0;
    if (this.isPlaying) requestAnimationFrame((wall) => this.tick(wall));
    this.tell();
  },

  tick(wall) {
    if (!this.isPlaying) return;
    // a page that slept does not jump
    const passed = this.wall ? Math.min(wall - this.wall, 100) : 0;
    this.wall = wall;
    let t = this.t + 1e-3 * passed * this.speed;
    if (t > this.last) {
      if (this.loop) t = this.first;
      else {
        this.t = this.last;
        return this.play(false);
      }
    }
    this.t = t;
    this.tell();
    requestAnimationFrame((next) => this.tick(next));
  },

  // The speed at which a run is seen well at first.
  choose() {
    const wanted = (this.last - this.first) / SEEN;
    if (wanted > 0.25 && wanted < 3) return 1;
    return SPEEDS.reduce((best, speed) => (Math.abs(Math.log(speed / wanted)) < Math.abs(Math.log(best / wanted)) ? speed : best), 1);
  },
};

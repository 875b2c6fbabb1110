"""Questions about methods: what a beam, an integrator or a law does by itself."""

"""The papers' cases. Each module: SETTINGS, build(settings) -> Model, figures(result), EXPECTED, PANELS."""

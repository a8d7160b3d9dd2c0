"""Presets of a recipe, as settings of a study."""


def presets_of(settings, presets):
    """Returns presets with the settings and the output folder of a study.

    Args:
        settings: Class of the settings of the study, derived from those of the
            recipe.
        presets: Dictionary of name to settings of the recipe.
    """
    own = {"output": settings.output}
    return {
        name: settings(**vars(preset) | own) for name, preset in presets.items()
    }

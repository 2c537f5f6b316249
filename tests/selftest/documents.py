"""The documents of the project, for links.sh and commands.sh."""
import os


def documents(top):
    """The paths of the pages below `top`, but not in builds, runs and corpora."""
    for folder, folders, names in os.walk(top):
        folders[:] = [f for f in folders if f not in (".git", "run", "runs", "multi30k", "tatoeba") and
                      not f.startswith("build")]
        for name in names:
            if name.endswith(".md"):
                yield os.path.normpath(os.path.join(folder, name))

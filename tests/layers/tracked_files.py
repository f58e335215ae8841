"""What git keeps is what people wrote: no links (they point into one person's machine), nothing that .gitignore names.

usage: tracked_files.py REPOSITORY
"""

import pathlib
import subprocess
import sys

LINK = "120000"


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True, text=True).stdout


def problems(repository):
    for line in git(repository, "ls-files", "--stage").splitlines():
        mode, _, _, name = line.split(maxsplit=3)
        if mode == LINK:
            yield f"{name}: a symbolic link is tracked; remove it with `git rm --cached {name}`"
    for name in git(repository, "ls-files", "--cached", "--ignored", "--exclude-standard").splitlines():
        yield f"{name}: tracked, though .gitignore names it"


def main(repository):
    if not pathlib.Path(repository, ".git").exists():
        print("skipped: not a git checkout")
        return 77
    found = list(problems(repository))
    print("\n".join(found) or "nothing but files of our own is tracked")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

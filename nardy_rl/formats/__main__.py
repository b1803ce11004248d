"""Check a file of games, and write it in another format if asked: python -m nardy_rl.formats FILE [OUT]."""

from nardy_rl.formats.command import main

if __name__ == "__main__":
    main()

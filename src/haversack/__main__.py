"""`python -m haversack`: the same program as `haversack`."""

from haversack.cli import main

if __name__ == "__main__":
    main()

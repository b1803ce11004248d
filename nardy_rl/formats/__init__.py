"""How positions and games are written down for people and other programs: IDs, .mat, our own record."""

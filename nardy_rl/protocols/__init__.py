"""Protocols by which other programs play our bots: UBGI, gnubg's sockets, OpenSpiel, PettingZoo, Gymnasium."""

"""The value network: its inputs, the torch module that learns, and the compiled twin that plays."""

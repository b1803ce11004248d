"""Bundles: a trained bot as an ONNX file that encodes, rates and weighs positions itself, with its card and proof."""

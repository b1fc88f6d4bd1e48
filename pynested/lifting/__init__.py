"""Lifting: how a function of dense arrays becomes a function of nested arrays.

``mapping`` lifts elementwise functions, and functions of one component. ``broadcasting`` aligns elementwise operands.
``result_layout`` chooses the layout of results. ``attention_matrices`` describes operands of attention as matrices.
"""

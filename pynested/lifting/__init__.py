"""Lifting: how a function of dense arrays becomes a function of nested arrays.

``mapping`` lifts elementwise functions, and functions of one component; ``broadcasting`` aligns their operands.
``reduction`` and ``along_dim`` lift formulas in terms of ``reducers``, over any dimensions or along one. Results get
their dtype by ``result_dtypes`` and their layout by ``result_layout``. ``attention_matrices`` describes operands of
attention as matrices.
"""

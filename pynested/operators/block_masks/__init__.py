"""Block masks of `flex_attention`: the pairs of queries and keys that are active, and the functions that say so."""

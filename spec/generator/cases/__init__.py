"""The authored cases: one module per chapter, one function per operator, `books()` for all of them."""

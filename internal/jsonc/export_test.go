package jsonc

// MaxDepth is how deep objects and arrays may lie in one another.
const MaxDepth = maxDepth

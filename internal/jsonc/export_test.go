package jsonc

// MaxDepth is how deep objects and arrays may be nested.
const MaxDepth = maxDepth

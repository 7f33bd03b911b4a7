package pins

// Kind is named by the tests of this package and nobody else.
type Kind = kind

package pins

// Kind lets the tests of this package name the type.
type Kind = kind

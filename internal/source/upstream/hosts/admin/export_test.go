package admin

// Imported is named by the tests of this package and nobody else.
type Imported = imported

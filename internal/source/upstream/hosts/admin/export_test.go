package admin

// Imported lets the tests of this package name the type.
type Imported = importedServer

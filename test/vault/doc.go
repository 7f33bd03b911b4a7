// Package vault tests the built-in notes as a whole: a crash at any moment loses nothing that was
// acknowledged; several processes share one file; the vault answers like the recorded kernel
// (docs/reference/vault/endpoints.md lists the differences and reasons); and the tools do not notice which
// kernel they use.
package vault

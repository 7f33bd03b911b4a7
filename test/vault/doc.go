// Package vault tests the built-in notes as a whole: a crash at any moment loses nothing that was acknowledged;
// several processes share one file; hostile requests do no harm; folders that are synced stay equal; and the vault
// answers like the recorded kernel (docs/reference/vault/endpoints.md lists the differences and their reasons).
package vault

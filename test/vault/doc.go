// Package vault holds what is shown of the built-in notes as a whole: that an end at any moment loses nothing that was
// acknowledged, that several processes share one file, that it answers as the recorded kernel did
// (docs/reference/vault/endpoints.md says where not, and why), that the tools do not
// notice which kernel they talk to.
package vault

// Package agent tests the agent host as a whole: the real program, a scripted provider of models, and the built-in
// vault.
package agent

// Package chat keeps conversations: sessions, each with one tree of messages, and the turns that
// answer them. What the user said is durable before a model is asked; what an engine does is
// folded into the answer, told to whoever listens, and checkpointed, so that neither a closed
// connection nor the end of the process loses it. Engines are others' ([Engine]).
package chat

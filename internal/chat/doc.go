// Package chat stores conversations: sessions, each with a tree of messages, and the turns that answer them. A user's
// message is durable before a model is asked. What an engine produces is added to the answer, streamed to subscribers
// and saved at short intervals, so that neither a closed connection nor the end of the process loses it. The package
// has no engines of its own; see [Engine].
package chat

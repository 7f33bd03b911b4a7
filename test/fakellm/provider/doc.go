// Package provider implements the APIs of model providers and answers by a script, so that programs that use
// a model can be tested without one: this project's agent, and other people's programs that use Collie as a
// server.
//
// A [Server] speaks, streamed and whole:
//
//	anthropic    POST …/messages, …/messages/count_tokens
//	responses    POST …/responses                            OpenAI
//	completions  POST …/chat/completions                     OpenAI, and what is compatible
//	gemini       POST …/models/M:generateContent, …:streamGenerateContent, …:countTokens
//	ollama       POST …/api/chat, …/api/show, GET …/api/tags
//
// It also lists models. The part of the path before these is ignored, so any base URL works. The package
// follows the vendors' public documentation of their APIs, and its stories check it against their SDKs.
//
// # Scripts
//
// A [Script] holds conversations; a [Conversation] holds turns. The request alone decides its answer: the
// first conversation whose [When] matches is used, and in it the turn after those that the request's history
// already contains. So a repeated request gets the same answer, and several clients can talk at the same
// time. A [Turn] names the tools that the model calls by the servers' names; clients put prefixes before
// those, which the fake finds among the offered tools. A turn may first fail, with one [Failure] per attempt:
// a status, an error inside a stream, or a stream that is cut or goes silent.
//
// Clients also send requests outside of the conversation, for example for a title. A request without tools,
// in a conversation whose turns call some, counts as such: it gets [Conversation.Aside] and uses up no turn.
//
// # What is refused
//
// The fake is as strict as the real API where a client's mistake would otherwise only show there: it requires
// a key, a model, valid and unique names of tools, and a result for every call. It also refuses a request for
// which the script has no answer. [Server.Faults] returns all these refusals. The fake does not check which
// JSON Schemas a provider accepts.
package provider

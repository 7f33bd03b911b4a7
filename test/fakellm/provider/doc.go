// Package provider answers the APIs of model providers by a script, so that whatever talks to a
// model can be tested without one: the agent of this project, and programs of others that
// reach Collie as a server.
//
// A [Server] speaks, streamed and whole:
//
//	anthropic    POST …/messages, …/messages/count_tokens
//	responses    POST …/responses                            OpenAI
//	completions  POST …/chat/completions                     OpenAI, and what is compatible
//	gemini       POST …/models/M:generateContent, …:streamGenerateContent, …:countTokens
//	ollama       POST …/api/chat, …/api/show, GET …/api/tags
//
// and lists models. What stands before these paths is the client's own matter: any base URL leads
// here. It is written from the vendors' public documentation of their APIs; the stories of
// this package hold it to their SDKs.
//
// # Scripts
//
// A [Script] holds conversations, a [Conversation] turns. What a request gets is decided
// by the request itself: the first conversation whose [When] fits, and there the turn behind those
// that its history has already. So requests that are sent again get the same answer, and several
// clients may talk at once. A [Turn] says which tools the model calls, by the names that the servers gave them:
// clients put prefixes before those, which the fake finds in what the request offers. A turn
// may fail first, a [Failure] an attempt: with a status, with an error inside a stream, with a stream that
// is cut or stays silent. A [Raw] is an answer byte for byte, in pieces of any size.
//
// Clients also ask beside the conversation, for a title or whether a topic is new. A
// request without tools, in a conversation whose turns call some, is such an aside: it gets
// [Conversation.Aside] and takes no turn.
//
// # What is refused
//
// The fake is as strict as the real one where a client's mistake would else be seen only there: a key, a model, tool
// names that are legal and stand once, and a result for every call, are wanted. A
// request for which the script has nothing is refused as well. [Server.Faults] tells of all that.
// Of JSON Schemas only words are refused that Gemini does not know.
package provider

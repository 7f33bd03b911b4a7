// Package keypool chooses which API key of a provider a request goes out with, and learns from how
// requests end. Its two operations are [Pool.ResolveAPIKeyForRequest] and [Pool.MarkKeyError].
//
// A conversation stays with the key that it began with, as long as that key can be used, so that the
// provider's prompt cache is hit; else keys take turns by weight, smoothly: weights 5, 1 and 1 give
// A A B A C A A. A key that fails rests, or is left out for good, by the class of the failure:
//
//	rate limit      60 s, doubled each time to 15 min; never shorter than the provider asks for
//	overloaded      the same, but two keys within 10 s say that it is the provider: no key rests then
//	quota           1 h, then 6 h, then a day
//	credential      until the secret is another one, or a person resets it
//	permission      this model 10 min; three models: as credential
//	model access    this model 10 min
//	all others      nothing
//
// Limits that are about one model rest that model of the key alone. How often a key rested outlives
// the rest: only an answer to a request that began later, or 15 quiet minutes a step, take it back.
// When a rest is over one request tries the key, and others follow once it has been answered.
package keypool

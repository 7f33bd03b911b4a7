// Package keypool chooses the API key with which a request to a provider is sent, and learns from how
// requests end. Its two main operations are [Pool.ResolveAPIKeyForRequest] and [Pool.MarkKeyError].
//
// A conversation keeps the key that it began with as long as that key can be used, so that the
// provider's prompt cache is hit. Otherwise keys take turns by smooth weighted round robin: weights 5, 1
// and 1 give A A B A C A A. A key that fails rests or becomes invalid, by the class of the failure:
//
//	rate limit      60 s, doubled each time to 15 min; never shorter than the provider asks for
//	overloaded      the same; if two keys fail within 10 s it is the provider, and no key rests
//	quota           1 h, then 6 h, then a day
//	credential      until the secret is replaced or a person resets the key
//	permission      this model for 10 min; with three such models as credential
//	model access    this model for 10 min
//	all others      no rest
//
// A limit that is about one model rests only that model of the key. Each rest raises a level, which
// makes the next rest longer. The level falls by one after 15 quiet minutes, and to 0 after an answer to a
// request that began after the rest. When a rest is over, one request probes the key, and others follow
// once it has been answered.
package keypool

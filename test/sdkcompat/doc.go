// Package sdkcompat tests that the official SDKs of model providers understand the fake provider of test/fakellm:
// texts, streams, tool calls and errors. It is a module of its own, so that the product does not depend on the SDKs.
package sdkcompat

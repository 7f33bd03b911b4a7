// Package sdkcompat tests that the official SDKs of model providers understand the fake provider of test/fakellm:
// texts, streams, tool calls and errors. It is a module of its own, so that the SDKs are no dependencies of the
// product.
package sdkcompat

// Package sdkcompat holds the fake provider of test/fakellm to what official SDKs understand: text, streams, tools and
// errors. It is a module of its own, so that no SDK comes near the product.
package sdkcompat

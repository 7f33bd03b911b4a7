package admin

import "collie/internal/config"

// KnownProvider is a provider whose address is built in.
type KnownProvider struct {
	config.Provider
	Env   []string // environment variables in which programs expect its key
	Local bool     // it runs on this machine and needs no key
}

// KnownProviders returns the providers that can be added by name alone.
func KnownProviders() []KnownProvider {
	known := func(name, kind, base string, env ...string) KnownProvider {
		return KnownProvider{Provider: config.Provider{Name: name, Kind: kind, BaseURL: base}, Env: env}
	}
	local := func(name, kind, base string) KnownProvider {
		return KnownProvider{Provider: config.Provider{Name: name, Kind: kind, BaseURL: base}, Local: true}
	}
	return []KnownProvider{
		known("openai", "openai", "", "OPENAI_API_KEY"),
		known("anthropic", "anthropic", "", "ANTHROPIC_API_KEY"),
		known("gemini", "gemini", "", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_KEY"),
		known("openrouter", "openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "OPENROUTER_KEY"),
		known("deepseek", "openai", "https://api.deepseek.com", "DEEPSEEK_API_KEY"),
		known("mistral", "openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
		known("groq", "openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
		known("xai", "openai", "https://api.x.ai/v1", "XAI_API_KEY"),
		known("moonshot", "openai", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
		known("zhipu", "openai", "https://open.bigmodel.cn/api/paas/v4", "ZHIPU_API_KEY"),
		known("dashscope", "openai", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
		known("siliconflow", "openai", "https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
		local("ollama", "ollama", "http://127.0.0.1:11434"),
		local("lmstudio", "openai", "http://127.0.0.1:1234/v1"),
		local("llamacpp", "openai", "http://127.0.0.1:8080/v1"),
	}
}

// builtIn returns the built-in facts about a provider of that name. local means that it needs no
// key.
func builtIn(name string) (p config.Provider, local, ok bool) {
	for _, k := range KnownProviders() {
		if k.Name == name {
			return k.Provider, k.Local, true
		}
	}
	return config.Provider{}, false, false
}

// The reference, in one file that is loaded with the page of help. It is in English.
export default import.meta.glob('../../../docs/reference/**/*.md', { query: '?raw', import: 'default', eager: true }) as Record<string, string>

// The guides in Chinese, in one file that is loaded with the page of help.
export default import.meta.glob('../../../docs/guide/*.zh-CN.md', { query: '?raw', import: 'default', eager: true }) as Record<string, string>

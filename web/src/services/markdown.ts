import DOMPurify from 'dompurify'
import { Marked, type Token } from 'marked'
import { straight } from './difference'
import { colon, t } from './locale.svelte'

// What models write is Markdown without HTML, and loads nothing: raw HTML is shown as text, and a picture as the
// text that stands for it. DOMPurify then keeps a short list of elements, whatever the parser made.

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => escapes[c]!)
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escape(text),
    tablecell({ tokens, header, align }) {
      const tag = header && tokens.length ? 'th' : 'td' // an empty head names nothing
      return `<${tag}${align ? ` align="${align}"` : ''}>${this.parser.parseInline(tokens)}</${tag}>\n`
    },
    image: ({ text, href }) => `<span class="picture">${escape(t('Picture not loaded'))}${colon()}${escape(text || href)}</span>`,
  },
})

// Formulas stand between $ and $, or $$ and $$, as TeX; what fills them is made where they are shown.
marked.use({
  extensions: [
    {
      name: 'formula',
      level: 'block',
      start: (src) => src.match(/^ {0,3}(?:\$\$|\\\[)/m)?.index,
      tokenizer(src) {
        const found = /^ {0,3}(?:\$\$([^$]+?)\$\$|\\\[([^]+?)\\\])[ \t]*(?:\n+|$)/.exec(src)
        return found ? { type: 'formula', raw: found[0], text: (found[1] ?? found[2])!.trim() } : undefined
      },
      renderer: ({ text }) => `<p><span class="math display">${escape(text)}</span></p>`,
    },
    {
      name: 'symbols',
      level: 'inline',
      start: (src) => src.match(/\$|\\\(/)?.index,
      tokenizer(src) {
        const found = /^(?:\$(?![\s$])((?:\\.|[^\\$\n])+?)(?<!\s)\$(?!\d)|\\\((.+?)\\\))/.exec(src)
        return found ? { type: 'symbols', raw: found[0], text: (found[1] ?? found[2])! } : undefined
      },
      renderer: ({ text }) => `<span class="math">${escape(text)}</span>`,
    },
  ],
})

const classes = ['picture', 'math', 'math display']

const kept = {
  ALLOWED_TAGS: [
    'a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre', 'span', 'strong',
    'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'title', 'start', 'align', 'class', 'target', 'rel'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && !node.getAttribute('href')?.startsWith('#/')) {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer nofollow')
    node.setAttribute('title', node.getAttribute('href') ?? '')
  }
  if (node.hasAttribute('class') && !classes.includes(node.getAttribute('class')!)) node.removeAttribute('class')
})

/** Block is a part of a text that is shown by itself: Markdown, or a listing. */
export interface Block {
  kind: 'markdown' | 'code'
  text: string
  /** language is the name of the language of a listing, of letters and digits; empty where there is none. */
  language: string
}

/** blocks splits a text into its top-level blocks, so that only the last one is rendered anew while a text grows. */
export function blocks(text: string): Block[] {
  const shown = straight(text)
  const tokens = marked.lexer(shown)
  if (Object.keys(tokens.links).length > 0) return [{ kind: 'markdown', text: shown, language: '' }] // references reach over blocks
  return tokens.filter((one: Token) => one.type !== 'space').map(blockOf)
}

function blockOf(one: Token): Block {
  if (one.type !== 'code') return { kind: 'markdown', text: one.raw, language: '' }
  const language = /^[\w+#-]{1,20}/.exec(one.lang ?? '')?.[0] ?? ''
  return { kind: 'code', text: one.text, language }
}

/** render returns a block as HTML that is safe to show. Links lead to other hosts; of a text of ours they may lead to pages too. */
export function render(block: string, ours = false): string {
  return DOMPurify.sanitize(marked.parse(block, { async: false }), ours ? { ...kept, ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#\/)/i } : kept)
}

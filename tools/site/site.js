// The search, the menu of phones, light or dark, and buttons that copy commands. Without it the pages are there to be read.
'use strict'
{
  const root = document.documentElement
  root.classList.add('script')
  const store = { // a browser may refuse storage to files
    get: (key) => { try { return localStorage.getItem(key) } catch { return null } },
    set: (key, value) => { try { localStorage.setItem(key, value) } catch { /* it is forgotten */ } },
  }
  if (store.get('theme')) root.dataset.theme = store.get('theme')

  const language = root.dataset.language
  const up = root.dataset.up
  const loaded = {}
  /** load resolves to the documents of a language: [page, title, whether there is a twin, [id, heading, text][]][]. Files can load scripts, but not data. */
  const load = (name) => loaded[name] ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${up}search-${name}.js`
    script.onload = () => resolve(window.collie[name])
    script.onerror = () => reject(new Error(script.src))
    document.head.append(script)
  })

  const han = /\p{Script=Han}/u
  /** tokens are what is looked for: words, and of Chinese, which has no spaces, pairs of characters. */
  const tokens = (query) => (query.match(/\p{Script=Han}+|[^\s\p{Script=Han}]+/gu) ?? []).map((word) => {
    const signs = [...word]
    return { word, parts: han.test(word) && signs.length > 2 ? signs.slice(1).map((c, i) => signs[i] + c) : [word] }
  })

  /** find returns the sections that have all words, and of each Chinese word at least half of its pairs; the best first. */
  const find = (documents, query) => {
    const wanted = tokens(query)
    const all = documents.flatMap(({ to, foreign, doc: [, title, , sections] }) => sections.map(([id, heading, text]) => (
      { to: to + (id ? '#' + encodeURIComponent(id) : ''), foreign, title, heading, text, lower: (heading + ' ' + text).toLowerCase(), head: heading.toLowerCase(), name: title.toLowerCase() })))
    const weight = {}
    for (const part of wanted.flatMap((w) => w.parts)) weight[part] = Math.log(1 + all.length / (1 + all.filter((s) => s.lower.includes(part)).length))
    const hits = []
    for (const s of all) {
      let score = 0
      const fits = wanted.every(({ word, parts }) => {
        const found = parts.filter((p) => s.lower.includes(p))
        for (const p of found) score += weight[p] * (s.head.includes(p) ? 3 : s.name.includes(p) ? 2 : 1)
        if (parts.length > 1 && s.lower.includes(word)) score *= 2
        return found.length * 2 >= parts.length && found.length > 0
      })
      if (fits) hits.push({ ...s, score: s.foreign ? score / 3 : score })
    }
    return { words: wanted.flatMap(({ word, parts }) => [word, ...parts]), hits: hits.sort((a, b) => b.score - a.score).slice(0, 30) }
  }

  const other = { en: 'zh', zh: 'en' }[language]
  /** documents are those of this language, and of the other one those that have no twin, or all where the words are Chinese. */
  const documents = async (query) => {
    const mine = (await load(language)).map((doc) => ({ doc, to: `${up}${language}/${doc[0]}`, foreign: false }))
    if (language === 'en' && !han.test(query)) return mine
    const rest = (await load(other)).filter((doc) => language === 'en' || !doc[2])
    return [...mine, ...rest.map((doc) => ({ doc, to: `${up}${doc[2] ? other : language}/${doc[0]}`, foreign: true }))]
  }

  const element = (tag, attributes, ...children) => {
    const e = document.createElement(tag)
    Object.assign(e, attributes)
    e.append(...children)
    return e
  }
  /** marked is the part of a text around the first of the words, which are marked there. */
  const marked = (text, words) => {
    const lower = text.toLowerCase()
    const at = words.map((w) => lower.indexOf(w)).find((i) => i >= 0) ?? 0
    const from = Math.max(0, at - 60)
    const part = (from ? '… ' : '') + text.slice(from, from + 220) + (from + 220 < text.length ? ' …' : '')
    const sign = new RegExp('(' + words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|') + ')', 'giu')
    return part.split(sign).map((piece, i) => i % 2 ? element('mark', {}, piece) : piece)
  }

  addEventListener('DOMContentLoaded', () => {
    const by = (id) => document.getElementById(id)
    const input = by('words'), hits = by('hits'), menu = by('menu'), nav = by('nav'), theme = by('theme')
    if (!input) return
    for (const e of [input.form, menu, theme]) e.hidden = false
    input.form.addEventListener('submit', (e) => { e.preventDefault(); hits.querySelector('a')?.click() })
    menu.addEventListener('click', () => menu.setAttribute('aria-expanded', String(nav.classList.toggle('open'))))
    theme.addEventListener('click', () => {
      const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
      store.set('theme', root.dataset.theme = dark ? 'light' : 'dark')
    })

    const search = async () => {
      const query = input.value.trim().toLowerCase()
      if (!query) { hits.hidden = true; hits.replaceChildren(); return }
      hits.hidden = false
      if (!hits.childElementCount) hits.replaceChildren(element('p', {}, root.dataset.loading))
      const all = await documents(query)
      if (query !== input.value.trim().toLowerCase()) return // typed on meanwhile
      const { words, hits: found } = find(all, query)
      hits.replaceChildren(found.length ? element('ol', {}, ...found.map((s) => {
        const name = s.heading && s.heading !== s.title ? `${s.title} · ${s.heading}` : s.title
        const li = element('li', {}, element('a', { href: s.to }, name), element('p', {}, ...marked(s.text, words)))
        if (s.foreign) li.lang = other === 'zh' ? 'zh-CN' : 'en'
        return li
      })) : element('p', {}, root.dataset.nothing))
      scrollTo(0, 0)
    }
    input.addEventListener('input', () => void search())
    input.addEventListener('focus', () => void load(language), { once: true })
    hits.addEventListener('click', (e) => { if (e.target.closest('a')) { input.value = ''; void search() } })
    addEventListener('keydown', (e) => {
      if (e.key === '/' && !e.ctrlKey && !e.metaKey && !e.altKey && !/^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) { e.preventDefault(); input.focus() }
      if (e.key === 'Escape' && input.value) { input.value = ''; void search() }
    })

    for (const h of document.querySelectorAll('article :is(h2, h3)[id]')) h.append(element('a', { className: 'anchor', href: '#' + encodeURIComponent(h.id), ariaLabel: h.textContent }, '#'))
    for (const pre of document.querySelectorAll('article pre')) {
      const button = element('button', { type: 'button' }, root.dataset.copy)
      button.addEventListener('click', async () => {
        const lines = pre.textContent.trimEnd().split('\n')
        const typed = lines.filter((l) => l.startsWith('$ ')).map((l) => l.slice(2)) // of a session what is typed, not what is answered
        await navigator.clipboard.writeText((typed.length ? typed : lines).join('\n'))
        button.textContent = root.dataset.copied
      })
      const box = element('div', { className: 'code' })
      pre.replaceWith(box)
      box.append(pre, button)
    }
  })
}

// The plugin that collie siyuan panel install puts into a workspace: a dock with pages of Collie in a frame, and the puppy.

import { Plugin, type Custom } from 'siyuan'
import './panel.css'
import { doings } from './doings'
import { readFile } from './files'
import { Puppy } from './puppy'
import { colon, language, t, type Text } from './texts'
import type { Doing } from '../src/store/puppy.svelte'

/** Place is what Collie wrote beside the plugin. */
interface Place {
  /** address is where the gateway is. */
  address: string
  /** origins are those that the gateway lets show the panel. */
  origins: string[]
}

const names: Record<Doing, Text> = {
  idle: 'idle', reading: 'reading', writing: 'writing', deleting: 'deleting', moving: 'moving', dangerous: 'asking', success: 'success', error: 'error',
}
const tryAgain = 5000 // milliseconds

const here = ['127.0.0.1', 'localhost', '[::1]']

/** near returns an address with the host of this window, where both are this machine: browsers keep a sign-in for one spelling. */
function near(address: string): string {
  const at = new URL(address)
  if (here.includes(at.hostname) && here.includes(location.hostname)) at.hostname = location.hostname
  return at.origin
}

const theme = () => (document.documentElement.dataset.themeMode ?? (window.siyuan?.config?.appearance?.mode === 1 ? 'dark' : 'light')) === 'dark' ? 'dark' : 'light'

function element<K extends keyof HTMLElementTagNameMap>(name: K, set: Partial<HTMLElementTagNameMap[K]> = {}, ...inside: (Node | string)[]): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), set)
  made.append(...inside)
  return made
}

export default class Collie extends Plugin {
  private puppy = new Puppy(() => this.address && window.open(this.address + '/pages/', '_blank', 'noopener'))
  private address = ''
  private docks = new Set<() => void>() // what ends each

  override onload(): void {
    this.addIcons('<symbol id="iconColliePanel" viewBox="0 0 32 32"><path d="M6 10l5-6 4 5h2l4-5 5 6v9a10 10 0 0 1-20 0zM12 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM20 15a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM13 22h6l-3 4z" fill-rule="evenodd"></path></symbol>')
    const plugin = this
    this.addDock({
      config: { position: 'RightTop', size: { width: 420, height: 0 }, icon: 'iconColliePanel', title: 'Collie' },
      data: null,
      type: 'collie',
      init: (dock) => plugin.fill((dock as Custom).element),
      destroy: () => plugin.empty(),
    })
  }

  override onLayoutReady(): void {
    this.puppy.open()
  }

  override onunload(): void {
    this.puppy.close()
    this.empty()
  }

  private empty(): void {
    for (const end of this.docks) end()
    this.docks.clear()
  }

  /** fill puts the frame, and below it what is about the puppy, into the dock. */
  private fill(into: Element): void {
    const frame = element('div', { className: 'collie-frame' }, element('p', { role: 'status' }, t('Connecting …')))
    const shown = element('input', { type: 'checkbox', checked: !this.puppy.hidden, onchange: () => this.puppy.hide(!shown.checked) })
    const test = element('select', { className: 'b3-select', ariaLabel: t('Test mode'), onchange: () => this.puppy.test((test.value || null) as Doing | null) },
      element('option', { value: '' }, t('Follow what is called')), ...doings.map((one) => element('option', { value: one }, `${t('Show')}${colon()}${t(names[one])}`)))
    const browser = element('a', { target: '_blank', rel: 'noopener', hidden: true }, t('Open in a browser ↗'))
    into.replaceChildren(element('div', { className: 'collie-panel' }, frame, element('footer', {}, element('label', {}, shown, ' ', t('Show the puppy')), test, browser)))
    let timer = 0
    let closed = false
    const say = (text: string) => frame.replaceChildren(element('p', { role: 'status' }, text))
    const connect = async () => {
      const place = (await readFile(`/data/plugins/${this.name}/panel.json`).catch(() => null)) as Place | null
      if (closed) return
      if (!place || typeof place.address !== 'string' || !Array.isArray(place.origins)) return say(t('The file of the panel cannot be read. Run collie siyuan panel install again.'))
      if (!place.origins.includes(location.origin)) {
        return say(t('This window is {}, and Collie shows its pages in frames of {} alone. Open SiYuan there, or add this origin to web.frameOrigins.', location.origin, place.origins.join(', ')))
      }
      this.address = near(place.address)
      browser.href = this.address + '/pages/'
      browser.hidden = false
      try {
        await fetch(this.address + '/healthz', { mode: 'no-cors', cache: 'no-store' })
      } catch {
        if (closed) return
        say(t('Collie does not answer at {}. Start it with collie serve.', this.address))
        timer = window.setTimeout(() => void connect(), tryAgain)
        return
      }
      if (!closed) frame.replaceChildren(page())
    }
    const page = () => {
      const made = element('iframe', { title: 'Collie', referrerPolicy: 'no-referrer', src: `${this.address}/pages/panel?language=${language()}&theme=${theme()}` })
      made.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox') // it may not lead this window elsewhere
      return made
    }
    const themes = new MutationObserver(() => frame.querySelector('iframe')?.replaceWith(page()))
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme-mode'] })
    this.docks.add(() => {
      closed = true
      clearTimeout(timer)
      themes.disconnect()
    })
    void connect()
  }
}

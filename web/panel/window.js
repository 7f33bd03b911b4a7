// @ts-check
// What the plugin needs of SiYuan's window, for tests: held to the types of SiYuan's plugin API by the type checker. It loads the
// plugin from the workspace, as a script that gets require and module.

/** @typedef {import('siyuan').Plugin} Plugin */

/** @implements {Pick<Plugin, 'name' | 'addIcons' | 'addDock' | 'onload' | 'onLayoutReady' | 'onunload'>} */
class Standin {
  /** @readonly */ name = 'collie-panel'

  /** @type {Plugin['onload']} */
  onload() {}

  /** @type {Plugin['onLayoutReady']} */
  onLayoutReady() {}

  /** @type {Plugin['onunload']} */
  onunload() {}

  /** @type {Plugin['addIcons']} */
  addIcons(svg) {
    const icons = document.createElement('div')
    icons.hidden = true
    icons.innerHTML = `<svg hidden>${svg}</svg>`
    document.body.append(icons)
  }

  /** @type {Plugin['addDock']} */
  addDock(options) {
    const element = /** @type {HTMLElement} */ (document.getElementById('dock'))
    element.style.width = `${options.config.size.width}px`
    const dock = /** @type {import('siyuan').Custom} */ (/** @type {unknown} */ ({ element, data: options.data, type: options.type }))
    options.init.call(dock, dock)
    return { config: options.config, model: dock }
  }
}

async function load() {
  const answer = await fetch('/api/file/getFile', { method: 'POST', body: JSON.stringify({ path: '/data/plugins/collie-panel/index.js' }) })
  const style = await fetch('/api/file/getFile', { method: 'POST', body: JSON.stringify({ path: '/data/plugins/collie-panel/index.css' }) })
  document.head.append(Object.assign(document.createElement('style'), { textContent: await style.text() }))
  /** @type {{ exports: any }} */
  const module = { exports: {} }
  new Function('require', 'module', 'exports', await answer.text())((/** @type {string} */ name) => {
    if (name !== 'siyuan') throw new Error(`SiYuan has no ${name}`)
    return { Plugin: Standin }
  }, module, module.exports)
  const plugin = new module.exports()
  Object.assign(window, { plugin })
  plugin.onload()
  plugin.onLayoutReady()
}

void load()

export {} // a module, so that its names are its own

// Icons of the pages in the menu: paths in a square of 16, drawn as lines.

export const icons: Record<string, string> = {
  chat: 'M2 3h12v8H7l-3 3v-3H2z',
  servers: 'M2 3h12v4H2zM2 9h12v4H2zM4.5 5h1M4.5 11h1',
  tools: 'M10 2a4 4 0 0 0-3 6l-5 5 1 1 5-5a4 4 0 0 0 6-4l-2 2-2-2 2-2z',
  clients: 'M2 3h12v8H2zM5 14h6M8 11v3',
  notes: 'M4 2h6l3 3v9H4zM6 7h5M6 10h5',
  notebooks: 'M4 2h9v12H4zM2 4h3M2 8h3M2 12h3',
  agents: 'M3 6h10v7H3zM8 3v3M6 9v1M10 9v1',
  models: 'M8 2l6 3v6l-6 3-6-3V5zM2 5l6 3 6-3M8 8v6',
  usage: 'M2 14h12M4 14V9M8 14V3M12 14V6',
  permissions: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  audit: 'M3 2h10v12H3zM5 6l1 1 2-2M5 10l1 1 2-2M10 6h1M10 10h1',
  settings: 'M2 5h6M12 5h2M8 3v4h4V3zM2 11h2M8 11h6M4 9v4h4V9z',
  cache: 'M3 4c0-3 10-3 10 0v8c0 3-10 3-10 0zM3 4c0 3 10 3 10 0M3 8c0 3 10 3 10 0',
  doctor: 'M2 8h3l2-5 2 10 2-5h3',
  help: 'M8 2a6 6 0 1 0 .1 0M6 6c0-3 4-2 4 0 0 1-2 1-2 3M8 11.5v.5',
  puppy: 'M8 8c2 0 4 3 3 5-1 1-2 0-3 0s-2 1-3 0c-1-2 1-5 3-5M3 7v1M6 4v1M10 4v1M13 7v1',
}

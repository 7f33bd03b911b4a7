import './style.css'
import { mount } from 'svelte'
import App from './features/frame/App.svelte'

mount(App, { target: document.getElementById('app')! })

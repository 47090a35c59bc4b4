/** Runs a real Open WebUI of one version on a free port, with an empty database. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort, startProgram, waitFor } from './processes.ts'

export interface OpenWebUiServer {
  readonly version: string
  readonly url: string
  readonly end: () => Promise<void>
}

export interface ServerOptions {
  readonly version: string
  readonly program: string
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
}

/** The first start creates the database, which takes a minute on a slow machine. */
const START_MS = 240_000

/** Without network: nothing is downloaded, and nothing is embedded. */
const OFFLINE: Readonly<Record<string, string>> = {
  OFFLINE_MODE: 'true',
  HF_HUB_OFFLINE: '1',
  ENABLE_VERSION_UPDATE_CHECK: 'false',
  ANONYMIZED_TELEMETRY: 'false',
  DO_NOT_TRACK: 'true',
  SCARF_NO_ANALYTICS: 'true',
  RAG_EMBEDDING_ENGINE: 'openai',
  BYPASS_EMBEDDING_AND_RETRIEVAL: 'true',
  USER_AGENT: 'open-webui',
}

/** As in docker-compose.yml: no other models, and a second user may use the gateway's. */
const SETTINGS: Readonly<Record<string, string>> = {
  ENABLE_SIGNUP: 'false',
  ENABLE_OLLAMA_API: 'false',
  ENABLE_EVALUATION_ARENA_MODELS: 'false',
  DEFAULT_USER_ROLE: 'user',
  BYPASS_MODEL_ACCESS_CONTROL: 'true',
  ENABLE_API_KEYS: 'true',
}

export async function startOpenWebUi(options: ServerOptions): Promise<OpenWebUiServer> {
  const { version, program, folder } = options
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  const port = await findFreePort()
  const log = join(folder, 'open-webui.log')
  const server = startProgram(program, ['serve', '--host', '127.0.0.1', '--port', String(port)], {
    log,
    environment: {
      ...OFFLINE,
      ...SETTINGS,
      DATA_DIR: data,
      WEBUI_SECRET_KEY: 'a secret of this run',
      // Otherwise an OpenAI connection with the key of the machine's environment appears.
      OPENAI_API_KEY: '',
      ...options.environment,
    },
  })
  const url = `http://127.0.0.1:${port}`
  await waitFor(`Open WebUI ${version} to start (its log: ${log})`, START_MS, async () => {
    if (!server.isAlive()) throw new Error(`Open WebUI ${version} did not start. See ${log}.`)
    const response = await fetch(`${url}/health`).catch(() => null)
    return response?.ok === true ? true : null
  }).catch(async (error: unknown) => {
    await server.end()
    throw error
  })
  return { version, url, end: server.end }
}

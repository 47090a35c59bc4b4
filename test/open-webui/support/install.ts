/**
 * Finds or installs what the suite needs outside this repository: Open WebUI from PyPI, and playwright-core from
 * npm. Chromium has to be there already.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Chromium } from './playwright.ts'
import { runProgram } from './processes.ts'

const CACHE =
  process.env['OPEN_WEBUI_CACHE'] ??
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'backstory-open-webui')

const PLAYWRIGHT = { name: 'playwright-core', version: '1.65.1' } as const
const INSTALL_MS = 20 * 60_000

/** Packages for models that Open WebUI runs itself. They are large, and are imported only when they are used. */
const UNUSED_PACKAGES = [
  'accelerate',
  'einops',
  'faster-whisper',
  'opencv-python-headless',
  'rapidocr',
  'rapidocr-onnxruntime',
  'sentence-transformers',
  'torch',
  'transformers',
]

/** Prints the requirements of the installed package without the unused ones, one in each line. */
const LIST_REQUIREMENTS = `
import importlib.metadata, re, sys
unused = set(sys.argv[1].split(','))
for line in importlib.metadata.requires('open-webui'):
    name = re.match('[A-Za-z0-9_.-]+', line).group(0).lower()
    if 'extra ==' not in line and name not in unused: print(line)
`

/** Returns the path of the program `open-webui` of a version. */
export async function installOpenWebUi(version: string): Promise<string> {
  const folder = join(CACHE, `open-webui-${version}`)
  const program = join(folder, 'bin', 'open-webui')
  const done = join(folder, 'complete')
  if (existsSync(done)) return program
  print(`installing Open WebUI ${version} into ${folder}: about 1.5 GB, some minutes`)
  mkdirSync(CACHE, { recursive: true })
  const python = join(folder, 'bin', 'python')
  if (!existsSync(python)) await runProgram(findPython(), ['-m', 'venv', folder], INSTALL_MS)
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  await runProgram(python, [...pip, '--no-deps', `open-webui==${version}`], INSTALL_MS)
  const requirements = join(folder, 'requirements.txt')
  const list = execFileSync(python, ['-c', LIST_REQUIREMENTS, UNUSED_PACKAGES.join(',')])
  writeFileSync(requirements, list)
  await runProgram(python, [...pip, '--requirement', requirements], INSTALL_MS)
  writeFileSync(done, '')
  return program
}

/** Open WebUI runs on Python 3.11 and 3.12 only. */
function findPython(): string {
  const named = process.env['OPEN_WEBUI_PYTHON']
  const found = named ?? findOnPath(['python3.11', 'python3.12'])
  if (found !== null) return found
  throw new Error(
    'Open WebUI needs Python 3.11 or 3.12. Install one of them, or set OPEN_WEBUI_PYTHON to its path.',
  )
}

export function findChromium(): string {
  const named = process.env['CHROMIUM']
  const found = named ?? findOnPath(['chromium', 'chromium-browser', 'google-chrome'])
  if (found !== null) return found
  throw new Error(
    'The suite needs Chromium. Install it (`apt-get install chromium`), or set CHROMIUM to its path.',
  )
}

export async function loadPlaywright(): Promise<Chromium> {
  const folder = join(CACHE, 'browser')
  const require = createRequire(join(folder, 'index.js'))
  if (!existsSync(join(folder, 'node_modules', PLAYWRIGHT.name))) {
    const required = `${PLAYWRIGHT.name}@${PLAYWRIGHT.version}`
    print(`installing ${required} into ${folder}`)
    mkdirSync(folder, { recursive: true })
    // Otherwise npm installs into the next folder above that has a package.json.
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    const args = ['install', '--no-audit', '--no-fund', '--prefix', folder, required]
    await runProgram('npm', args, INSTALL_MS)
  }
  return (require(PLAYWRIGHT.name) as { readonly chromium: Chromium }).chromium
}

function findOnPath(names: readonly string[]): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return paths.find((path) => existsSync(path)) ?? null
}

function print(text: string): void {
  process.stderr.write(`${text}\n`)
}

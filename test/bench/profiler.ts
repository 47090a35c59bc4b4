/**
 * Preloaded into a subject to profile its main thread: SIGUSR2 starts and stops the profile, which is written
 * into the working directory.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.setSamplingInterval', { interval: 250 })
let count = 0
let isRunning = false

process.on('SIGUSR2', () => {
  isRunning = !isRunning
  if (isRunning) return session.post('Profiler.start')
  session.post('Profiler.stop', (error, result) => {
    if (error !== null) throw error
    const name = `${count++}.cpuprofile`
    writeFileSync(`${name}.part`, JSON.stringify(result.profile))
    renameSync(`${name}.part`, name)
  })
})

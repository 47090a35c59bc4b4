import { soak } from './soak.ts'

soak(2)

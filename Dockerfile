# Two images: `app` runs api and worker with production packages only, `sandbox` has the simulators and the tools that
# prepare a development chain.
FROM node:24-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./

FROM base AS app
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY tsconfig.json ./
COPY src ./src
USER node
CMD ["node", "--import", "tsx", "src/main/api.ts"]

FROM base AS sandbox
RUN npm ci --include=dev --ignore-scripts --no-audit --no-fund && npm cache clean --force
COPY tsconfig.json ./
COPY src ./src
COPY scripts ./scripts
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
CMD ["node", "--import", "tsx", "src/main/sandbox.ts"]

// usage: PACKAGES=node_modules node compile.mjs FILE.typ...: each compiles to a PDF.
import { createRequire } from 'node:module';

const { NodeCompiler } = createRequire(`${process.env.PACKAGES}/`)('@myriaddreamin/typst-ts-node-compiler');

function compiles(file) {
    try {
        return NodeCompiler.create({ workspace: '/' }).pdf({ mainFilePath: file }).length > 0;
    } catch (error) {
        console.error(`${file}: ${error.message}`);
        return false;
    }
}

process.exit(process.argv.slice(2).map(compiles).every(Boolean) ? 0 : 1);

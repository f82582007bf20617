// Nothing is switched off.
    return NoSync([] {});

"""What publications print of questions, by question: by the beginning of a row, the cells of columns: texts, or
ns. These are measurements of others, on their machines."""

GAIN = 'gain of channels'
AGGREGATED = 'plain / aggregator'
EXCHANGES, INTERRUPTS, POLLING = 'published: exchanges', 'published: interrupts', 'published: polling'
SIZES = ('100', '1000', '5000', '10000', '20000', '30000', '40000', '70000', '100000', '500000')


def _round_trips(**us):
    return {f'published, InfiniBand: {name.replace("_", " ")}': {size: 1e3 * one for size, one in zip(SIZES, times)}
            for name, times in us.items()}


PUBLISHED = {
    # E. Bohm et al., CkDirect: Unsynchronized One-Sided Communication in a Message-Driven Paradigm, 2009, Table 1; then
    # what sections 4 and 5 say of its figures.
    'channels_tcp': _round_trips(
        CkDirect=(12.383, 16.108, 29.330, 43.136, 68.927, 93.422, 120.954, 195.248, 275.322, 1294.358),
        Charm_messages=(22.924, 25.110, 47.340, 66.176, 96.215, 160.470, 191.343, 271.803, 353.305, 1399.145),
        MVAPICH_send=(12.302, 19.436, 37.311, 56.249, 88.659, 119.452, 144.973, 236.545, 315.692, 1386.051),
        MVAPICH_put=(16.801, 22.821, 51.750, 64.202, 94.250, 120.218, 146.028, 232.021, 308.942, 1369.516)),
    'papers_jacobi': {'published: 256 processors, InfiniBand': {GAIN: 'about 12 %'}},
    'papers_matmul': {'published: 4,096 processors, Blue Gene/P': {GAIN: 'close to 40 %'}},
    'papers_pairs': {'published: InfiniBand, these phases alone': {GAIN + ', marked': 'up to 14 %'},
                    'published: InfiniBand, the whole application': {GAIN + ', marked': 'about 4 %'}},
    # O. Glück et al., The influence of system calls and interrupts on the performances of a PC cluster using a Remote
    # DMA communication primitive: its last table.
    'papers_gauss': {'800 equations': {EXCHANGES: '646,682', INTERRUPTS: '79 µs', POLLING: '48 µs'},
                    '1200 equations': {EXCHANGES: '1,450,450', INTERRUPTS: '70 µs', POLLING: '46 µs'},
                    '1600 equations': {EXCHANGES: '2,574,140', INTERRUPTS: '74 µs', POLLING: '50 µs'},
                    '2000 equations': {EXCHANGES: '4,018,285', INTERRUPTS: '72 µs', POLLING: '44 µs'}},
    # F. M. Maley, J. G. DeVinney, Conveyors for Streaming Many-To-Many Communication, 2019, Figure 2.
    'conveyors': {f'published: {kernel}, {size} bytes, 128 nodes of 32 processes': {AGGREGATED: times}
                         for kernel, size, times in (('histogram', 8, '38'), ('histogram', 64, '8'),
                                                     ('index gather', 8, '37'), ('index gather', 64, '10'))},
}

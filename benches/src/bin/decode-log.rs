//! Decodes the frames of a log with libzstd and nothing else: `decode-log PATH`.
fn main() {
    let path = std::env::args().nth(1).expect("a path");
    let bytes = std::fs::read(path).expect("it can be read");
    for _ in 0..3 {
        let started = std::time::Instant::now();
        let mut context = zstd_safe::DCtx::create();
        let mut out: Vec<u8> = Vec::with_capacity(1 << 20);
        let (mut at, mut total, mut frames) = (0, 0u64, 0);
        while at < bytes.len() {
            let mut input = zstd_safe::InBuffer::around(&bytes[at..]);
            loop {
                out.clear();
                let mut output = zstd_safe::OutBuffer::around(&mut out);
                let hint = context.decompress_stream(&mut output, &mut input).expect("it decodes");
                total += output.pos() as u64;
                if hint == 0 { break; }
            }
            at += input.pos();
            frames += 1;
        }
        println!("{frames} frames, {total} bytes, {:.3} s", started.elapsed().as_secs_f64());
    }
}

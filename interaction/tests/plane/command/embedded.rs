//! The store that comes with the plane.

use super::pictures::{bytes, encoded, png, upload};
use super::support::{By, Desk, executed, never, with};
use crate::support::Kind;
use gatelog_engine::storage::sim::{Call, Cause, Failure, Fault};
use gatelog_engine::storage::{Sim, Storage as _, Volume};
use gatelog_interaction::cancel::Cancel;
use gatelog_interaction::command::{
    AttachmentBlock, AttachmentCode, AttachmentError, AttachmentId, AttachmentStore,
    CommandDefinition, CommandInvocation, CommandResult, EmbeddedStore, ImageLimits, ImageRef,
    ImageUpload, MediaType, NotOpened, StoreFailure,
};
use gatelog_interaction::profile::Profile;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;

const DIR: &str = "/attachments";

pub(super) fn open(sim: &Sim, limits: ImageLimits) -> EmbeddedStore {
    let volume: Arc<dyn Volume> = Arc::new(sim.disk());
    EmbeddedStore::open(volume, DIR, limits, Handle::current()).expect("the disk is sound")
}

async fn admit(
    store: &EmbeddedStore,
    images: Vec<ImageUpload>,
) -> Result<Vec<ImageRef>, AttachmentError> {
    classified(store.admit(images, Cancel::new()).await)
}

async fn read(store: &EmbeddedStore, id: &str) -> Result<Vec<u8>, AttachmentCode> {
    let read = classified(store.read(&AttachmentId::new(id)).await);
    read.map_err(|error| error.code)
}

fn classified<T>(result: Result<T, StoreFailure>) -> Result<T, AttachmentError> {
    result.map_err(|failure| match failure {
        StoreFailure::Classified(error) => error,
        StoreFailure::Other(error) => panic!("a failure with a name: {error}"),
    })
}

fn names(sim: &Sim) -> Vec<String> {
    let entries = sim.disk().list(Path::new(DIR)).expect("the folder is there");
    entries.into_iter().map(|entry| entry.name.into_string().expect("a text")).collect()
}

fn pngs(count: usize) -> Vec<ImageUpload> {
    (0..count).map(|at| upload(png(&at.to_string()), "image/png")).collect()
}

#[tokio::test]
async fn ca_06_the_batch_is_judged_first_then_each_member_and_then_it_is_stored() {
    use AttachmentCode as Code;
    let sim = Sim::new(1);
    let limits = ImageLimits {
        images_max: 3,
        image_bytes_max: 100,
        batch_bytes_max: 250,
        pixels_max: 50,
        edge_pixels_max: 10,
        media_types: vec![MediaType::Png, MediaType::Gif],
    };
    let store = open(&sim, limits);
    let of = |width, height, bytes_more: usize| {
        upload(bytes(MediaType::Png, width, height, &vec![0; bytes_more]), "image/png")
    };
    let (good, long, huge) = (of(2, 3, 0), of(2, 3, 90), of(2, 3, 300));
    let noise = |media_type| upload(b"noise, and no image at all".to_vec(), media_type);
    let gif = upload(bytes(MediaType::Gif, 2, 3, b""), "image/png");
    // Each row is refused for the first of its faults, in this order.
    let rows = [
        (vec![noise("x/y"), huge.clone(), good.clone(), good.clone()], Code::TooManyImages),
        (vec![noise("x/y"), huge], Code::ImagesTooLarge),
        (vec![noise("image/png"), noise("image/jpeg")], Code::UnsupportedImageType),
        (vec![long.clone(), noise("image/png")], Code::ImageTooLarge),
        (vec![good.clone(), noise("image/png")], Code::InvalidImage),
        (vec![good.clone(), gif], Code::ImageTypeMismatch),
        (vec![good.clone(), of(11, 1, 0)], Code::ImageDimensionTooLarge),
        (vec![good.clone(), of(10, 6, 0)], Code::ImageTooManyPixels),
        (vec![good.clone(), of(0, 6, 0)], Code::InvalidImage),
    ];
    for (images, code) in rows {
        let refused = admit(&store, images).await.expect_err("something is wrong");
        assert_eq!(refused.code, code, "{refused}");
        assert_eq!(names(&sim), Vec::<String>::new(), "{code:?}: nothing was stored");
    }
    assert_eq!(admit(&store, vec![good]).await.expect("it is sound").len(), 1);
}

#[tokio::test]
async fn ca_06_the_limits_are_told_in_the_hosts_words() {
    let store = open(&Sim::new(1), ImageLimits::default());
    let refused = admit(&store, pngs(21)).await.expect_err("too many");
    assert_eq!(refused.message, "Image batch exceeds the configured image-count limit.");
    let limits = ImageLimits { batch_bytes_max: 10, ..ImageLimits::default() };
    let refused = admit(&open(&Sim::new(1), limits), pngs(1)).await.expect_err("too large");
    assert_eq!(refused.message, "Image batch exceeds the configured aggregate image-byte limit.");
    let svg = vec![upload(b"<svg/>".to_vec(), "image/svg+xml")];
    let refused = admit(&store, svg).await.expect_err("no such type");
    assert_eq!(refused.message, "Image type image/svg+xml is not accepted by this deployment.");
    assert_eq!(
        ImageLimits::default(),
        ImageLimits {
            images_max: 20,
            image_bytes_max: 20 * 1024 * 1024,
            batch_bytes_max: 200 * 1024 * 1024,
            pixels_max: 64_000_000,
            edge_pixels_max: 8_192,
            media_types: MediaType::ALL.to_vec(),
        }
    );
    assert_eq!(admit(&store, pngs(20)).await.expect("as many as there may be").len(), 20);
}

#[tokio::test]
async fn ca_06_the_type_is_told_from_the_bytes() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    for told in MediaType::ALL {
        for said in MediaType::ALL {
            let image = upload(bytes(told, 7, 5, b""), said.name());
            match admit(&store, vec![image]).await {
                Ok(references) => {
                    assert_eq!(told, said);
                    let [reference] = &references[..] else { panic!("one reference") };
                    let size = (reference.width, reference.height);
                    assert_eq!((reference.media_type, size), (told, (7, 5)));
                }
                Err(error) => {
                    assert_ne!(told, said);
                    assert_eq!(error.code, AttachmentCode::ImageTypeMismatch);
                }
            }
        }
    }
    assert_eq!(names(&sim).len(), 4);
    // A signature that is cut off is none, however it begins; so is a head without a size.
    for told in MediaType::ALL {
        let whole = bytes(told, 7, 5, b"");
        for end in 0..whole.len() {
            let cut = upload(whole[..end].to_vec(), told.name());
            if let Err(error) = admit(&store, vec![cut]).await {
                assert_eq!(error.code, AttachmentCode::InvalidImage, "{told:?} to {end}");
            } else {
                // What is cut off behind the size is not looked at.
                assert!(end + 4 >= whole.len(), "{told:?} to {end}");
            }
        }
    }
}

#[tokio::test]
async fn ca_09_a_refusal_publishes_nothing_and_a_failure_no_reference() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    let mut images = pngs(2);
    images.push(upload(b"noise".to_vec(), "image/png"));
    admit(&store, images).await.expect_err("the third is no image");
    assert_eq!(names(&sim), Vec::<String>::new());
    // Every call that can fail, fails once.
    let calls = [Call::Create, Call::Write, Call::Sync, Call::ReadDevice, Call::Rename];
    for call in calls {
        for after in 0..3 {
            sim.fail(
                Fault::new(call, Failure::Error(Cause::Eio)).after(after).on("/attachments/*"),
            );
            let failed = admit(&store, pngs(3)).await.expect_err("the disk fails");
            assert_eq!(failed.code, AttachmentCode::AttachmentWriteFailed, "{call:?} {after}");
            assert_eq!(sim.faults_left(), 0, "{call:?} {after}");
            let left = names(&sim);
            assert!(left.iter().all(|name| !name.starts_with("tmp-")), "{call:?}: {left:?}");
        }
    }
    sim.fail(Fault::new(Call::SyncDir, Failure::Error(Cause::Eio)));
    let failed = admit(&store, pngs(3)).await.expect_err("the names are not durable");
    assert_eq!(failed.code, AttachmentCode::AttachmentWriteFailed);
    assert!(!failed.message.contains('/'), "no path is shown: {failed}");
    // And then the same batch is stored after all.
    let references = admit(&store, pngs(3)).await.expect("the disk is sound again");
    let device = sim.power_cut(|_| false);
    let after = open(&device, ImageLimits::default());
    for (at, reference) in references.iter().enumerate() {
        let read = read(&after, reference.attachment_id.as_str()).await;
        assert_eq!(read, Ok(png(&at.to_string())));
    }
}

#[tokio::test]
async fn ca_09_a_disk_that_gives_back_other_bytes_is_found_out_before_anybody_cites_them() {
    for failure in [Failure::Flip { offset: 20, bit: 3 }, Failure::Lost] {
        let sim = Sim::new(1);
        let store = open(&sim, ImageLimits::default());
        sim.fail(Fault::new(Call::Sync, failure).on("/attachments/*"));
        let failed = admit(&store, pngs(1)).await.expect_err("the device has other bytes");
        assert_eq!(failed.code, AttachmentCode::AttachmentCorrupt, "{failure:?}");
        assert_eq!(names(&sim), Vec::<String>::new(), "{failure:?}");
    }
}

#[tokio::test]
async fn ca_09_what_was_stored_is_read_back_exactly_or_not_at_all() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    let long = bytes(MediaType::Png, 2, 3, &vec![7; 3 << 20]);
    let references = admit(&store, vec![upload(long.clone(), "image/png")]).await;
    let reference = references.expect("it is sound").remove(0);
    let id = reference.attachment_id.as_str();
    assert_eq!(reference.bytes, long.len() as u64);
    assert_eq!(read(&store, id).await, Ok(long));
    let path = format!("{DIR}/{}", names(&sim)[0]);
    sim.flip(&path, 100, 1).expect("the object is there");
    assert_eq!(read(&store, id).await, Err(AttachmentCode::AttachmentCorrupt));
    sim.fail(Fault::new(Call::Read, Failure::Error(Cause::Eio)).on("/attachments/*"));
    assert_eq!(read(&store, id).await, Err(AttachmentCode::AttachmentReadFailed));
    sim.disk().remove(Path::new(&path)).expect("the object is there");
    assert_eq!(read(&store, id).await, Err(AttachmentCode::AttachmentNotFound));
}

#[tokio::test]
async fn ca_11_an_id_never_reaches_a_path() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    let references = admit(&store, pngs(1)).await.expect("it is sound");
    let good = references[0].attachment_id.to_string();
    let hex = good.strip_prefix("blake3-").expect("the prefix of this store");
    assert_eq!(names(&sim), [hex]);
    read(&store, &good).await.expect("it is there");
    let operations = sim.trace().len();
    for bad in [
        String::new(),
        hex.to_owned(),
        good.to_uppercase(),
        format!("{good}0"),
        format!("{good}/"),
        format!("blake3-{}", hex.to_uppercase()),
        format!("blake3-../attachments/{hex}"),
        "blake3-../../etc/passwd".to_owned(),
        "../x".to_owned(),
        format!("blake3-{}\0", &hex[1..]),
        format!("blake3-{}é", &hex[2..]),
    ] {
        let refused = read(&store, &bad).await;
        assert_eq!(refused, Err(AttachmentCode::InvalidAttachmentRef), "{bad:?}");
    }
    assert_eq!(sim.trace().len(), operations, "the disk was not even asked");
}

#[tokio::test]
async fn ca_09_what_is_the_same_is_stored_once() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    let mut same = pngs(1);
    same.extend(pngs(1));
    same[1].name = Some("other".into());
    let references = admit(&store, same).await.expect("it is sound");
    assert_eq!(references[0].attachment_id, references[1].attachment_id);
    assert_eq!(references[1].name.as_deref(), Some("other"));
    assert_eq!(names(&sim).len(), 1);
    // What rotted meanwhile is whole again when it is stored again.
    let path = format!("{DIR}/{}", names(&sim)[0]);
    sim.flip(&path, 10, 1).expect("the object is there");
    let again = admit(&store, pngs(1)).await.expect("it is sound").remove(0);
    assert_eq!(read(&store, again.attachment_id.as_str()).await, Ok(png("0")));
}

#[tokio::test]
async fn ca_10_a_store_that_is_no_longer_wanted_stops_between_two_images() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    let cancel = Cancel::new();
    cancel.cancel();
    let failed = classified(store.admit(pngs(2), cancel).await).expect_err("nobody wants it");
    assert_eq!(failed.code, AttachmentCode::AttachmentWriteFailed);
    assert_eq!(names(&sim), Vec::<String>::new());
}

#[tokio::test]
async fn ca_09_one_store_has_the_folder_and_sweeps_what_died_in_it() {
    let sim = Sim::new(1);
    let store = open(&sim, ImageLimits::default());
    let references = admit(&store, pngs(1)).await.expect("it is sound");
    let volume = Arc::new(sim.disk());
    let limits = ImageLimits::default();
    let second = EmbeddedStore::open(volume, DIR, limits, Handle::current());
    assert!(matches!(second, Err(NotOpened::Taken(dir)) if dir == Path::new(DIR)));
    drop(store);
    let dead = Path::new("/attachments/tmp-0-dead");
    sim.disk().open_write(dead, gatelog_engine::storage::Create::New).expect("the name is free");
    let store = open(&sim, ImageLimits::default());
    assert_eq!(names(&sim).len(), 1, "only what died is gone");
    assert_eq!(read(&store, references[0].attachment_id.as_str()).await, Ok(png("0")));
}

#[tokio::test]
async fn ca_15_a_command_keeps_its_images_in_the_store() {
    for kind in Kind::ALL {
        let sim = Sim::new(1);
        let store = Arc::new(open(&sim, ImageLimits::default()));
        let desk = Desk::of(kind, Profile::STRICT, Some(store.clone()));
        let kept = Arc::clone(&store);
        let compare = By(move |invocation: CommandInvocation| {
            let store = Arc::clone(&kept);
            async move {
                let AttachmentBlock::Image(image) = &invocation.attachments[0] else {
                    panic!("an image")
                };
                let data = store.read(&image.attachment_id).await?;
                Ok(CommandResult::text(format!("{}", data == png("a"))))
            }
        });
        let definition = CommandDefinition::new("x", "d", compare).with_attachments("pictures");
        let _x = desk.global(definition);
        let execution = executed(desk.with("/x", with([encoded(&png("a"))])).await);
        assert_eq!(execution.result, CommandResult::text("true"), "{kind:?}");
        desk.assert_lawful();
    }
}

#[tokio::test]
async fn ca_07_a_refusal_of_the_store_is_the_commands_result() {
    let sim = Sim::new(1);
    let store = Arc::new(open(&sim, ImageLimits::default()));
    let desk = Desk::of(Kind::Native, Profile::STRICT, Some(store));
    let _x = desk.global(CommandDefinition::new("x", "d", never()).with_attachments("pictures"));
    let _execution = executed(desk.with("/x", with([encoded(b"noise")])).await);
    assert_eq!(desk.error_text(), "Image upload is not a readable image.");
    let gif = bytes(MediaType::Gif, 1, 1, b"");
    let execution = executed(desk.with("/x", with([encoded(&gif)])).await);
    let refused = CommandResult::error("Image is image/gif, not image/png as declared.");
    assert_eq!(Some(execution.result), refused);
    desk.assert_lawful();
}
